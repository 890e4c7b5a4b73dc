-- Attempts count rows that were really begun: a claim counts none, and what a term that ended had claimed is worked
-- on alone afterwards, where the end of the daemon can be nobody else's fault.
ALTER TABLE work ADD COLUMN alone boolean NOT NULL DEFAULT false;
CREATE INDEX work_alone ON work (stage, attempts, run_after, item_id) WHERE alone AND parked_reason IS NULL;
-- Until now the claim itself counted.
UPDATE work SET attempts = greatest(attempts - 1, 0) WHERE claimed_epoch IS NOT NULL;
-- Why a provider is left alone, in words of ours.
ALTER TABLE provider_holds ADD COLUMN reason text;

-- How the cosines of a model are to be read, measured with the model itself.

ALTER TABLE embedding_models
    -- The logistic curve from cosine to similarity; NULL: not measured, or known without.
    ADD COLUMN midpoint real CHECK (midpoint BETWEEN -1 AND 2),
    ADD COLUMN scale    real CHECK (scale > 0),
    ADD CHECK ((midpoint IS NULL) = (scale IS NULL));

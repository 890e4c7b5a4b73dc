-- name: plan_for_values
-- For this transaction: each statement is planned for the values it is given.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true)

"""Where builders of sites meet the engine."""

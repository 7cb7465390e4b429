"""Export pages as notebooks."""

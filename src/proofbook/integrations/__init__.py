"""The engine's integrations with site builders."""

"""What in the prose could be a claim and is not."""

"""Programs that chapters run: train on data of your own, and on several processes."""

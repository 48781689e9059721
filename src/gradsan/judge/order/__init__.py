"""The right gradient at the wrong moment, or in the wrong amount."""

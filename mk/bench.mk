# Measurements.

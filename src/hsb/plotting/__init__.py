"""Figures. Matplotlib is imported when a figure is drawn."""

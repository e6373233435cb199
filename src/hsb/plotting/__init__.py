"""Everything that draws. Matplotlib is imported when something is drawn, not before."""

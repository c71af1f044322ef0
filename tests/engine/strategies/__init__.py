"""Each strategy on canvases made by hand."""

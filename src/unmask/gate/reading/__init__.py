"""What an answer says: claims read out of text, by the grammar of the embedded model and out of prose."""

package speech

// Sentences cuts a text into pieces to synthesize.
var Sentences = sentences

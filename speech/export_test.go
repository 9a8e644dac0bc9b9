package speech

// Sentences exports the function sentences, which splits a text into pieces for synthesis.
var Sentences = sentences

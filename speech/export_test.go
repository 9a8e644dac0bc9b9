package speech

// Sentences exports sentences, which splits a text into pieces for synthesis.
var Sentences = sentences

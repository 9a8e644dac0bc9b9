// Package overlap classifies the words that a caller says while the agent speaks. Back-channels ("uh-huh", "I see") acknowledge the agent's
// words, and fillers ("um") only hesitate: usually neither interrupts the agent. Other words usually do.
//
// The lists of words are data files in the folder words, one file per language. A recognizer's spelling does not matter: the comparison
// ignores case, accents, punctuation, repeated letters, and blanks within a phrase.
package overlap

// Package overlap classifies the words that a caller says while the agent speaks. Back-channels ("uh-huh", "I see") and fillers ("um")
// acknowledge the agent's words, and the agent continues. All other words interrupt the agent.
//
// The lists of words are data files in the folder words, one file per language. A recognizer's spelling does not matter: the comparison
// ignores case, accents, punctuation, repeated letters, and blanks within a phrase.
package overlap

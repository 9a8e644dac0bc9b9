// Package phrases identifies the party that answered a call by its words: the greeting of an answering machine, a menu, an announcement of
// the network, call screening, or a person.
//
// The phrases are data files in the folder words, one file per language. Several phrases of a text add up, so that a recognizer's errors
// rarely matter.
package phrases

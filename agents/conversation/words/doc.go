// Package words compares the words of callers, whatever their recognizer's spelling is, and finds the data file of a language. The packages
// that judge words share it: overlap, expect and endpoint.
package words

// Package speechapi serves synthesis, samples and voices.
//
// An answer of audio to a text is sent sentence by sentence while it is made; one that fails breaks the connection. Links to the
// audio of samples are served without a key. Their signatures stand in the query, which neither logs nor traces have.
package speechapi

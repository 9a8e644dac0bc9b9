// Package speechapi serves the operations of synthesis, samples and voices.
//
// An answer of audio is sent sentence by sentence during the synthesis. If the synthesis fails, the connection is aborted. Links to the
// audio of samples require no key. Their signatures are in the query, which neither logs nor traces contain.
package speechapi

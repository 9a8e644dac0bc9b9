// Package agentstest has what tests of agents need: conformance suites for the ports of agents (one Run function each, such
// as RunModel and RunPathwayStore), and stand-ins whose behaviour a test scripts: Line and Phone for the telephone,
// Synthesizer and Recognizer for the engines, Model, Requests and Gate for the ports of pathways. Collect and Speak take a reply and a speech to their ends.
//
// The stand-ins share one Voice, which carries text in audio to the letter: what a Phone says, the Recognizer
// understands; what the Synthesizer speaks, Phone.Heard reads back, cut where the playout was cut.
package agentstest

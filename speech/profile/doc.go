// Package profile measures how a person speaks, and finds the voice of an engine that comes nearest.
//
// A profile is no clone: the engine's voice stays its own. What a profile takes over are the pitch and the tempo of the speaker,
// as far as the engine can change them. Measure measures recordings, of people and of engines alike; Cloner is the speech.Cloner
// that compares them.
package profile

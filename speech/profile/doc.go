// Package profile measures a person's speech, and finds the nearest voice of an engine.
//
// A profile is not a clone: it keeps the sound of the engine's voice, and adopts the pitch and the tempo of the speaker as far as the
// engine can change them. Measure measures recordings of people and of engines; Cloner is the speech.Cloner that compares them.
package profile

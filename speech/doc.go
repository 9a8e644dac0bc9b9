// Package speech turns text into speech for organizations: with the engine's voices, and with voices that the organizations
// have made of recordings. Everything that is spoken is kept as a sample, whose audio a signed link leads to for a while.
//
// A Service cuts a text into sentences, has an engine of package tts speak them one after the other, brings them to one
// loudness, and writes them to a WAV file in Blobs. A text that was spoken before, with the same voice, engine and format,
// is not synthesized again. Calls speak through the same Service: Speaker returns the tts.Synthesizer of an organization.
//
// # Voices
//
// A voice is found by its id or by its name, without regard to case: an organization's own voices come before the engine's.
// A Cloner makes own voices of recordings. The local one, in package profile, cannot copy a speaker: it measures the pitch
// and the tempo of the recordings and has the engine's nearest voice speak with them. Such a voice has the kind "profile".
//
// # Bounds
//
// Config bounds how many texts are synthesized at once and how many wait; more are CodeTooManyRequests. The constants of this
// package bound texts, names, recordings, and what is kept.
package speech

// Package speech converts text to speech for organizations: with the engine's voices, and with voices that the organizations have made from
// recordings. The speech that Speak and Stream return is stored as samples. A signed link gives access to a sample's audio for a limited
// time.
//
// A Service splits a text into sentences, has an engine of package tts speak the sentences one after the other, adjusts them to one
// loudness, and writes them to a WAV file in Blobs. It does not synthesize a text again with the same voice, engine and format. Calls speak
// through the same Service: Speaker returns the tts.Synthesizer of an organization. Its speech is not stored as samples.
//
// # Voices
//
// A voice is found by its id or by its name, without regard to case: an organization's own voices take precedence over the engine's. A
// Cloner makes own voices from recordings. The local Cloner, in package profile, cannot copy a speaker: it measures the pitch and the tempo
// of the recordings and has the engine's nearest voice speak with them. Such a voice is of KindProfile.
//
// # Bounds
//
// Config bounds the texts that are synthesized concurrently and the texts that wait; further requests are refused with CodeTooManyRequests.
// The constants of this package bound texts, names, recordings and stored data.
package speech

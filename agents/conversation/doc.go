// Package conversation takes turns with a caller: it hears when the caller speaks and stops (voice activity, end of
// turn), has the words recognized, asks a Brain what to say, speaks its sentences as they come, and falls silent at
// once when the caller breaks in.
//
// It knows audio frames, text and time; not telephones, models or engines. Those are its ports: Audio, Brain,
// Recognizer and Synthesizer.
package conversation

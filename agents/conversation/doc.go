// Package conversation leads a conversation with a caller, turn by turn. It detects when the caller speaks and stops (voice activity
// detection, endpointing), recognizes the words, asks a Brain for the answer, and speaks the answer's sentences as they arrive. When the
// caller speaks over the answer (barge-in), the answer pauses immediately, and the caller's words decide whether it continues.
//
// The package processes audio frames, text and time. Telephones, models and speech engines are behind its ports: Audio, Brain and
// Recognizer, and the Synthesizer of package tts.
//
// # Turn taking
//
// An Activity distinguishes the caller's voice from other sounds every 20 ms. While the agent is silent, 80 ms of voice begin an utterance.
// The recognizer also receives the audio shortly before. A pause of 300 ms ends the utterance, so that its words become known; the caller's
// turn consists of all utterances until the TurnDetector judges that the turn is over. Then the brain answers. An EarlyBrain prepares its
// answer when the turn is probably over. Nothing of this answer is played before the turn is certain, and it is withdrawn if the caller
// continues or the recognized words change.
//
// A Recognizer that implements Streamer recognizes a call in one session, and returns partial texts; Batch makes a session of any other
// Recognizer. An EarlyStreamer opens the session while the call rings. If a session ends, the next one receives the audio of all utterances
// without a final text again.
//
// While the agent speaks or thinks, only a voice of Config.Interruption counts. It holds the answer: the agent is silent from the next
// frame on, and an utterance begins. BargeIn lists the voice and the words that cut the answer. A cut cancels the brain's answer, and
// shortens the transcript to the words that were played. The next turn contains the part that was heard. Other words and noises resume the
// answer at the beginning of the held word; the recognized words are an entry of the transcript, but no turn. A hold ends at the latest 2.5
// seconds after the caller's voice. Package overlap classifies the words. Over words that no voice interrupts, the answer continues; other
// words than acknowledgements interrupt it as soon as a voice may, and otherwise become a turn after its end. In the first Config.EchoGuard of an answer, only a voice about as
// loud as the agent's voice counts, because a softer one may be the agent's echo.
//
// Digits are collected until # or Config.InterDigit. They always interrupt the agent. While the call is on hold, everything waits.
//
// # Inside
//
// machine.go contains a table of states and events that implements turn taking. Two goroutines run it. The reader handles the frames and
// never waits: a recognition in a third goroutine passes the caller's audio to the recognizer. The speaker answers the turns one after the other, and synthesizes the next sentence while a sentence is played. Both share
// the mouth of an answer, which plays its sentences and has a position in their samples: the speaker writes, and the reader holds, resumes
// and cuts.
//
// A Brain that streams the text of a model cuts it into sentences with a tts.Chunker.
package conversation

// Package conversation takes turns with a caller: it hears when the caller speaks and stops (voice activity, end of
// turn), has the words recognized, asks a Brain what to say, speaks its sentences as they come, and falls silent at
// once when the caller breaks in.
//
// It knows audio frames, text and time; not telephones, models or engines. Those are its ports: Audio, Brain,
// Recognizer and Synthesizer.
//
// # How turns are taken
//
// A Detector tells voice from noise every 20 ms. While the agent is silent, 80 ms of voice begin an utterance, which the
// recognizer gets from shortly before that on; Config.EndOfTurn without voice ends it, and the brain is asked. While the
// agent speaks, or thinks about its answer, the voice must go on for Config.Interruption: a cough or a "mm-hm" does not
// interrupt. A voice that does silences the agent with the next frame, ends its brain's answer, and cuts the transcript
// to the words that were played; the brain hears of that with the next turn. In the first Config.EchoGuard of an answer
// only a voice about as loud as the agent's own counts, because it may be its echo. Keys are collected until # or
// Config.InterDigit, and interrupt at once. On hold everything waits.
//
// Who may do what when is one table (machine.go), tested for every state and event. Two goroutines run it: the reader,
// which follows the frames and never waits, and the speaker, which has the turns answered one after the other. The
// sentence after the one that plays is synthesized meanwhile.
//
// A Brain that streams a model's text cuts it into sentences with a Chunker.
package conversation

// Package ladder is the message sequence of a SIP call: who sent what when, without a secret in it.
//
// A [Recorder] takes the steps of one attempt at a call as they happen and keeps them within [MaxEvents] and [MaxBytes].
// Of a message it gets what an [Event] has room for and nothing else: no header but CSeq and the branch of Via, and of a
// body the summary that [Describe] makes.
package ladder

// Package ladder records the message sequence of a SIP call (a ladder diagram), without secrets.
//
// A [Recorder] takes the steps of one attempt at a call as they happen and keeps them within [MaxEvents] and [MaxBytes].
// An [Event] holds few parts of a message: of the headers CSeq and the branch of Via, and of the body the summary by
// [Describe].
package ladder

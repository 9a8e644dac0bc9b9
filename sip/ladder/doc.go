// Package ladder records the sequence of a SIP call's messages (a ladder diagram), without secrets.
//
// A [Recorder] records the steps of one call attempt, and limits them to [MaxEvents] and [MaxBytes]. An [Event] contains only selected
// parts of a message: of the headers only CSeq and the branch of Via, and of the body only the summary by [Describe].
package ladder

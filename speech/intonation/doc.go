// Package intonation measures how the pitch of a caller's voice ends before a pause. A pitch that falls to the bottom of the voice, or rises,
// usually ends a turn; a pitch that stays in the middle usually keeps it (Edlund and Heldner, "Exploring Prosody in Interaction Control", 2005).
package intonation

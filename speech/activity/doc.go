// Package activity detects a caller's speech in the audio of a call (voice activity detection). A Detector classifies each frame of 20 ms,
// and distinguishes the caller from softer voices in the room.
//
// By itself, a Detector compares energy with a noise floor, so that it takes coughs, music and other voices for speech. A Network such as
// silero.Network corrects that: where the caller is clearly louder than the noise, a frame is speech if the energy and the network agree. In
// louder noise the network decides alone, because the energy misses many frames. Without a Network, babble and single voices that are less than
// 13 dB softer than the caller keep a turn open, and coughs and music interrupt the agent.
package activity

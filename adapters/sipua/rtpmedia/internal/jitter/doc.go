// Package jitter converts packets that arrive irregularly to continuous audio. An adaptive Buffer sorts the packets and decides how long to
// wait for them. A concealer replaces the audio of lost packets. A Player produces frames from both. The package uses neither sockets nor
// clocks: its callers pass the current time.
//
// Times are counted from any fixed moment, and the RTP clock in ticks. The travel time of a packet is unknown, but the differences between
// travel times are known. The arrival time minus the timestamp, called transit here, is smallest for the fastest packet. The delay of the
// playout is measured from the fastest packet, and the target delay suffices for nearly all recent packets.
package jitter

// Package jitter turns packets that arrive irregularly into continuous audio: an adaptive Buffer that puts them in order
// and decides how long to wait, a concealer for lost packets, and a Player that makes frames of both. It uses
// neither sockets nor clocks: the caller passes the time.
//
// Time is counted from any fixed moment, the RTP clock in ticks. The travel time of a packet is unknown, but differences are:
// arrival less timestamp, called transit here, is smallest for the fastest packet. The delay of the playout is measured from that
// packet, and the wanted delay is long enough for nearly all of the recent packets.
package jitter

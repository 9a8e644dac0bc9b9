// Package jitter turns packets that come when they like into audio that flows: an adaptive Buffer that puts them in order
// and decides how long to wait, a concealer for what never comes, and a Player that makes frames of both. It knows
// neither sockets nor clocks: whoever uses it says what time it is.
//
// Time is counted from any fixed moment, the RTP clock in ticks. How long a packet was under way is not known, but
// differences are: arrival less timestamp, called transit here, is smallest for the fastest packet. The delay of the
// playout is measured from that packet, and the wanted delay is what nearly all of the recent packets would have needed.
package jitter

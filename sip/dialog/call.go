package dialog

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Phase is the phase of a call, which determines the events that are legal.
type Phase uint8

// The phases of a call. The package comment shows the transitions.
const (
	New Phase = iota
	Calling
	Proceeding
	Canceling
	Offered
	Answered
	Active
	Leaving
	Over
	phases
)

var phaseNames = [phases]string{
	"new", "calling", "proceeding", "canceling", "offered", "answered", "active", "leaving", "ended",
}

// String returns the name of the phase, or "unknown".
func (p Phase) String() string {
	if p < phases {
		return phaseNames[p]
	}
	return "unknown"
}

// ErrRefused is returned by Call.Next for an event that is illegal in the call's phase.
var ErrRefused = errors.New("dialog: event refused")

// Config configures a call.
type Config struct {
	LocalTag string
	T1, T2   time.Duration // RFC 3261, section 17.1.1.1; 0 means 500 ms for T1, and 8*T1 for T2
	Session  time.Duration // Session-Expires of our INVITE; 0 means none
	Seed     uint64        // seeds the random waits after a 491 and in Retry-After
}

// Call is the state of one call. It is an immutable value: Next returns a new Call, and never modifies the slices of the old one.
type Call struct {
	config Config
	phase  Phase

	outbound  bool
	remoteTag string
	target    string  // remote target (RFC 3261, section 12)
	routes    []Route // route set, fixed when the dialog is established
	seq       uint32  // highest CSeq that we used
	remoteSeq uint32  // highest CSeq of the peer; 0 before the first

	first     uint32   // CSeq of the initial INVITE as it was answered
	invite    uint32   // CSeq of our INVITE in progress; 0 if none
	tries     int      // retries of that INVITE after challenges and a 422; every retry includes the credentials, if configured
	rang      bool     // inbound: 180 was sent; outbound: 180 or 183 was received
	canCancel bool     // a 1xx was received
	cancelled bool     // CANCEL was sent
	last      int      // status of the last response to the first INVITE
	forks     []string // To tags of the 2xx from other branches

	offerless   bool          // the peer's INVITE contained no offer, so its ACK contains the answer
	unacked     uint32        // CSeq of our 2xx that waits for its ACK; 0 if none
	interval    time.Duration // time until the 2xx is retransmitted
	granted     Session       // session timer granted in that 2xx
	deciding    bool          // the peer's re-INVITE waits for Decide
	reinviteSeq uint32        // CSeq of that re-INVITE

	expires   time.Duration // session interval; 0 means no session timer
	minSE     time.Duration // Min-SE of our INVITEs: the constant MinSE, or the value of a 422
	refresher bool          // we refresh the session
	seed      uint64

	transfer transfer
	referTo  string
	wait     time.Duration // time limit for the final NOTIFY

	referral  referral
	referSeq  uint32 // CSeq of the peer's REFER
	referrals int    // number of accepted REFERs of the peer

	ending   Ending // ending that is reported when our BYE or CANCEL is done
	wantBye  bool   // send BYE as soon as the ACK is received
	stopped  bool   // StopMedia was returned
	byeTries int    // retries of our BYE after challenges
	refTries int    // retries of our REFER after challenges
	tellSeq  uint32 // CSeq of our last NOTIFY
	told     Progress
	telTries int // retries of that NOTIFY after challenges

	replay  bool // the event changed the phase, and must also be handled in the new phase
	effects []Effect
}

// transfer is the state of a transfer that we requested with REFER.
type transfer uint8

const (
	noTransfer transfer = iota
	referring           // REFER was sent
	following           // REFER was accepted; NOTIFYs report the progress
	transferred
)

// referral is the state of a transfer that the peer requested with REFER.
type referral uint8

const (
	noReferral referral = iota
	judging             // the call's owner decides
	reporting           // accepted; our NOTIFYs report the progress
	handedOver          // the target has replaced the peer
)

// NewCall returns a call in phase New, with the defaults of cfg applied.
func NewCall(cfg Config) Call {
	if cfg.T1 <= 0 {
		cfg.T1 = 500 * time.Millisecond
	}
	if cfg.T2 <= 0 {
		cfg.T2 = 8 * cfg.T1
	}
	return Call{config: cfg, seed: cfg.Seed, minSE: MinSE}
}

// Phase returns the phase of the call.
func (c Call) Phase() Phase { return c.phase }

// RemoteTag returns the peer's tag, or "" before a dialog exists.
func (c Call) RemoteTag() string { return c.remoteTag }

// LastStatus returns the status of the last response to the initial INVITE, the peer's or ours, or 0 if there was none.
func (c Call) LastStatus() int { return c.last }

// handler handles one kind of event in one phase.
type handler func(*Call, Event)

// table maps each phase and kind of event to its handler. Events without a handler are refused.
var table = map[Phase]map[Kind]handler{
	New: {
		KindDial: (*Call).dial, KindIncoming: (*Call).incoming,
	},
	Calling: {
		KindHangup: (*Call).giveUp, KindFired: (*Call).ringTimeout,
		KindProvisional: (*Call).provisional, KindSuccess: (*Call).answered, KindRefusal: (*Call).refused,
	},
	Proceeding: {
		KindHangup: (*Call).giveUp, KindFired: (*Call).ringTimeout,
		KindProvisional: (*Call).provisional, KindSuccess: (*Call).answered, KindRefusal: (*Call).refused,
	},
	Canceling: {
		KindHangup: ignore, KindFired: (*Call).cancelTimeout,
		KindProvisional: (*Call).cancelNow, KindSuccess: (*Call).answeredTooLate, KindRefusal: (*Call).cancelDone,
	},
	Offered: {
		KindRing: (*Call).ring, KindAnswer: (*Call).answer,
		KindReject: (*Call).reject, KindHangup: (*Call).declineOffer,
		KindCANCEL: (*Call).cancelledByPeer, KindUndelivered: (*Call).undelivered, KindFired: (*Call).offerTimeout,
		KindOPTIONS: ok, KindBYE: (*Call).byeBeforeAnswer, KindINVITE: (*Call).pending,
		KindNOTIFY: unknown, KindREFER: unknown, KindACK: ignore,
	},
	Answered: {
		KindACK: (*Call).confirmed, KindHangup: (*Call).byeWhenConfirmed, KindFired: (*Call).answeredTimer,
		KindCANCEL: ok, KindUndelivered: (*Call).undelivered,
		KindBYE: (*Call).overtaking, KindINVITE: (*Call).overtaking, KindREFER: (*Call).overtaking,
		KindNOTIFY: (*Call).overtaking, KindOPTIONS: (*Call).overtaking,
	},
	Active: {
		KindHangup: (*Call).hangup, KindTransfer: (*Call).refer, KindDecide: (*Call).decide, KindReferral: (*Call).referred,
		KindFired: (*Call).activeTimer,
		KindACK:   (*Call).reconfirmed, KindBYE: (*Call).byeByPeer, KindINVITE: (*Call).reinvited, KindCANCEL: ok,
		KindREFER: (*Call).referredByPeer, KindNOTIFY: (*Call).notified, KindOPTIONS: (*Call).inOrderOK,
		KindProvisional: ignore, KindSuccess: (*Call).laterSuccess, KindRefusal: (*Call).laterRefusal,
		KindByeResult: ignore, KindReferResult: (*Call).referResult, KindNotifyResult: (*Call).notifyResult,
		KindUndelivered: (*Call).notReconfirmed,
	},
	Leaving: {
		KindHangup: ignore, KindFired: (*Call).leavingTimer, KindByeResult: (*Call).byeResult,
		KindBYE: (*Call).byeCrossed, KindACK: ignore, KindINVITE: unknown, KindCANCEL: ok, KindREFER: unknown,
		KindNOTIFY: ok, KindOPTIONS: ok, KindDecide: ignore,
		KindProvisional: ignore, KindSuccess: (*Call).laterSuccess, KindRefusal: ignore, KindReferResult: ignore,
		KindNotifyResult: ignore, KindReferral: ignore, KindUndelivered: ignore,
	},
	Over: {
		KindHangup: ignore, KindFired: ignore, KindACK: ignore, KindUndelivered: ignore, KindDecide: ignore,
		KindBYE: unknown, KindINVITE: unknown, KindCANCEL: unknown, KindREFER: unknown, KindNOTIFY: unknown,
		KindOPTIONS: unknown, KindProvisional: ignore, KindSuccess: (*Call).laterSuccess, KindRefusal: ignore,
		KindByeResult: ignore, KindReferResult: ignore, KindNotifyResult: ignore, KindReferral: ignore,
	},
}

// Next applies an event. It returns the resulting call, and the effects to execute in order. If the event is illegal, Next returns
// ErrRefused and the unchanged call.
func (c Call) Next(ev Event) (Call, []Effect, error) {
	do := table[c.phase][ev.kind()]
	if do == nil {
		return c, nil, fmt.Errorf("%w: %s while %s", ErrRefused, ev.kind(), c.phase)
	}
	next := c
	next.effects = nil
	do(&next, ev)
	if next.replay {
		next.replay = false
		table[next.phase][ev.kind()](&next, ev)
	}
	effects := next.effects
	next.effects = nil
	return next, effects, nil
}

func ignore(*Call, Event) {}

// ok answers a request that changes nothing with 200.
func ok(c *Call, ev Event) { c.plainly(ev.(Request), 200) }

// unknown answers a request without a dialog with 481.
func unknown(c *Call, ev Event) { c.plainly(ev.(Request), 481) }

// plainly answers a request that changes nothing: with the given status, or with 420 if the request requires unsupported extensions.
func (c *Call) plainly(r Request, status int) {
	if !c.refuseExtensions(r) {
		c.respond(r, status)
	}
}

func (c *Call) emit(e ...Effect) { c.effects = append(c.effects, e...) }

func (c *Call) arm(t Timer, after time.Duration) { c.emit(Arm{Timer: t, After: after}) }

func (c *Call) disarm(ts ...Timer) {
	for _, t := range ts {
		c.emit(Disarm{Timer: t})
	}
}

func (c *Call) respond(r Request, status int) {
	c.emit(Respond{Method: r.Method, CSeq: r.CSeq, Status: status})
}

// ack acknowledges a 2xx in the call's own dialog.
func (c *Call) ack(cseq uint32) {
	c.emit(Send{Method: ACK, CSeq: cseq, RemoteTag: c.remoteTag, Via: path(c.target, c.routes)})
}

// bye sends BYE and stops the media. The call ends when the peer has responded, or after 10*T1.
func (c *Call) bye(why Ending) {
	if c.deciding {
		c.emit(Respond{Method: INVITE, CSeq: c.reinviteSeq, Status: 487})
		c.deciding = false
	}
	c.finishTransfer(false, 0)
	c.abandonReferral()
	if why.Status == 0 {
		why.Status = 200 // a call that needs BYE was answered
	}
	c.ending, c.phase, c.unacked = why, Leaving, 0
	c.seq++
	c.disarm(TimerRing, TimerCancel, TimerRetransmit, TimerACK, TimerRefresh, TimerExpire, TimerGlare, TimerTransfer, TimerGrace)
	c.stopMedia()
	c.emit(Send{Method: BYE, CSeq: c.seq, RemoteTag: c.remoteTag, Via: path(c.target, c.routes), Why: why.Cause})
	c.arm(TimerBye, 10*c.config.T1)
}

func (c *Call) stopMedia() {
	if !c.stopped {
		c.stopped = true
		c.emit(StopMedia{})
	}
}

// end moves the call to its last phase and reports the ending. Every call ends here.
func (c *Call) end(why Ending) {
	c.finishTransfer(false, 0)
	if c.referral == judging {
		c.abandonReferral()
	}
	for t := range timers {
		c.disarm(t)
	}
	c.stopMedia()
	why.Rang = c.outbound && c.rang
	c.phase, c.ending, c.unacked = Over, why, 0
	c.emit(Ended{Ending: why})
}

// strayResponse acknowledges a 2xx of another branch of a fork, or of a canceled call, and ends its dialog with BYE. It acknowledges
// retransmissions again, without another BYE.
func (c *Call) strayResponse(r Response) {
	target, routes := r.Contact, reversed(r.Routes)
	if target == "" {
		target = c.target
	}
	via := path(target, routes)
	c.emit(Send{Method: ACK, CSeq: r.CSeq, RemoteTag: r.RemoteTag, Via: via, Stray: true})
	if !slices.Contains(c.forks, r.RemoteTag) {
		c.forks = append(slices.Clip(c.forks), r.RemoteTag)
		c.emit(Send{Method: BYE, CSeq: r.CSeq + 1, RemoteTag: r.RemoteTag, Via: via, Stray: true, Why: Cancelled})
	}
}

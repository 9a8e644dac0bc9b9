package rtpmedia

import "time"

// frameTime is the duration of the audio in a sip.Frame.
const frameTime = 20 * time.Millisecond

// maxBurst is the maximum number of late frames that are sent in one burst after the machine was busy. Earlier frames are omitted, and the
// RTP clock skips their time.
const maxBurst = 3

// schedule computes the due times of frames. Frame n is due at start + n*20 ms, even if earlier frames were late.
type schedule struct {
	start time.Duration
	next  int64 // the number of the next frame
}

// at returns the due time of frame n.
func (s *schedule) at(n int64) time.Duration { return s.start + time.Duration(n)*frameTime }

// wait returns the time until the next frame is due, or 0 if it is already due.
func (s *schedule) wait(now time.Duration) time.Duration { return max(s.at(s.next)-now, 0) }

// due returns the frames to play now: the number of the first frame, and the count of frames. It omits all but the last maxBurst due
// frames. late is the number of due frames, including omitted ones, that are late by at least 20 ms.
func (s *schedule) due(now time.Duration) (first, count, late int64) {
	if now < s.at(s.next) {
		return s.next, 0, 0
	}
	count = int64((now-s.at(s.next))/frameTime) + 1
	late = count - 1
	first = s.next
	s.next += count
	if count > maxBurst {
		first, count = s.next-maxBurst, maxBurst
	}
	return first, count, late
}

// pace plays and sends each frame when it is due, until the session is closed.
func (s *session) pace() {
	defer s.running.Done()
	plan := schedule{start: s.now()}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-timer.C:
		}
		first, count, late := plan.due(s.now())
		s.media.late.Add(uint64(late))
		for n := first; n < first+count; n++ {
			s.transmit(s.tick(plan.at(n), n))
		}
		timer.Reset(plan.wait(s.now()))
	}
}

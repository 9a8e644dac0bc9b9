package engine

// The measures of a loop.
const (
	loopTimes  = 3 // times that the same is said, one after the other
	loopLength = 4 // exchanges that the same has at most
)

// loops finds conversations that go round in circles: the same one to four exchanges, with the same words of both sides at the
// same nodes, three times in a row. A caller who says something new is never in a loop.
type loops struct {
	exchanges [][3]string
}

// add adds an exchange, and reports whether the conversation has come round.
func (l *loops) add(caller, agent, node string) bool {
	l.exchanges = append(l.exchanges, [3]string{caller, agent, node})
	for length := 1; length <= loopLength && length*loopTimes <= len(l.exchanges); length++ {
		if l.repeats(length) {
			return true
		}
	}
	return false
}

// repeats reports whether the last exchanges are so many, loopTimes.
func (l *loops) repeats(length int) bool {
	last := l.exchanges[len(l.exchanges)-length*loopTimes:]
	for i := length; i < len(last); i++ {
		if last[i] != last[i-length] {
			return false
		}
	}
	return true
}

package engine

// These constants define a loop.
const (
	loopTimes  = 3 // consecutive occurrences of the same part
	loopLength = 4 // maximum number of exchanges in the part that repeats
)

// loops detects loops of a conversation: the same one to four exchanges, with equal words of both sides at equal nodes, occur three times
// in succession. New words of a caller always break a loop.
type loops struct {
	exchanges [][3]string
}

// add adds an exchange, and reports whether the conversation loops.
func (l *loops) add(caller, agent, node string) bool {
	l.exchanges = append(l.exchanges, [3]string{caller, agent, node})
	for length := 1; length <= loopLength && length*loopTimes <= len(l.exchanges); length++ {
		if l.repeats(length) {
			return true
		}
	}
	return false
}

// repeats reports whether the conversation ends with loopTimes equal parts in succession. length is the number of exchanges in a part.
func (l *loops) repeats(length int) bool {
	last := l.exchanges[len(l.exchanges)-length*loopTimes:]
	for i := length; i < len(last); i++ {
		if last[i] != last[i-length] {
			return false
		}
	}
	return true
}

package fingerprint

// Header is one header of an answer as it came: the name in its own case, in its own order.
type Header struct{ Name, Value string }

// Guess is the system that an answer comes from.
type Guess struct {
	System     string   // such as "Asterisk"; empty: unknown, which is normal
	Version    string   // empty: not told
	Confidence float64  // 0 to 1
	Evidence   []string // for people, without text of the peer's own
	Note       string   // what to know about this system; empty: nothing
}

package sip

// Region is what customers' firewalls and telephone systems need to know of us.
type Region struct {
	Name      string   // such as "us1"
	Addresses []string // of signalling and media, for firewalls
	Host      string   // where customers' systems send their calls
	Port      int
	RTPLow    int // media: UDP ports
	RTPHigh   int
}

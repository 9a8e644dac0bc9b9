package sip

// CodecConfig is which codecs a trunk's calls are offered, in the order of preference.
type CodecConfig struct {
	Codecs []CodecSetting
	// Transcode lets the two directions of a call use different codecs of the list, and the peer change between them.
	// Without it one codec is agreed on for both.
	Transcode bool
}

// CodecSetting is one codec of the list.
type CodecSetting struct {
	Name    string // as the specification writes it: PCMU, PCMA, G.729, Opus, G.722
	Enabled bool
}

package graph

// The maximum lengths of texts, in characters, and of lists, as openapi.yaml specifies them.
const (
	longestID          = 128
	longestType        = 64
	longestName        = 200
	longestTag         = 100
	longestColor       = 32
	longestPrompt      = 32768
	longestCondition   = 8000
	longestLabel       = 1000
	longestDescription = 4000
	longestKnowledge   = 65536
	longestNumber      = 64
	longestDigits      = 200
	longestURL         = 2048
	longestMethod      = 10
	longestBody        = 65536
	longestPath        = 512
	longestContext     = 1000

	maxItems = 100
	maxTools = 50

	maxMembers = 200 // members of an object for which the contract defines no members
)

package fingerprint

import "regexp"

const teams = "Microsoft Teams"

// notes are what to know before calls are sent to a system.
var notes = map[string]string{
	teams: "Microsoft Teams takes calls through a certified session border controller only; a direct connection is not supported.",
}

// product is what a system calls itself in Server or User-Agent. The first group of the pattern is its version, of which
// nothing but digits, letters, dots and the like can come through.
type product struct {
	system     string
	confidence float64
	pattern    *regexp.Regexp
}

// version matches a version number of at most 32 characters.
const version = `([0-9][0-9A-Za-z.+~_-]{0,31})`

func named(system, pattern string) product {
	return product{system, byName, regexp.MustCompile(`(?i)^` + pattern)}
}

func mentioned(system, pattern string) product {
	return product{system, byMention, regexp.MustCompile(`(?i)` + pattern)}
}

// products in the order in which they count: what is built upon another system before that one.
var products = []product{
	named("FreePBX", `FPBX-`+version),
	named("Asterisk", `Asterisk PBX\s*(?:certified/)?`+version),
	named("Asterisk", `Asterisk\b`),
	named("FreeSWITCH", `FreeSWITCH-mod_sofia/`+version),
	named("FreeSWITCH", `FreeSWITCH\b`),
	named("Cisco CUBE", `Cisco-SIPGateway/IOS-`+version),
	named("Cisco CUBE", `Cisco-SIPGateway\b`),
	named("Cisco CUCM", `Cisco-CUCM`+version),
	named("Kamailio", `kamailio \(`+version),
	named("Kamailio", `kamailio\b`),
	named("OpenSIPS", `OpenSIPS \(`+version),
	named("OpenSIPS", `OpenSIPS\b`),
	named("3CX", `3CXPhoneSystem\s+`+version),
	named("3CX", `3CXPhoneSystem\b`),
	named(teams, `Microsoft\.PSTNHub\.SIPProxy(?:\s+v\.`+version+`)?`),
	named("baresip", `baresip v`+version),
	// Nobody here has seen these answer: a maker's name is all there is to go by.
	mentioned("AudioCodes", `\baudiocodes\b|\bmediant\b`),
	mentioned("Ribbon", `\bribbon\b|\bsonus\b`),
	mentioned("Oracle SBC", `\boracle\b|\bacme ?packet\b`),
	mentioned("Avaya", `\bavaya\b`),
	mentioned("Mitel", `\bmitel\b`),
	mentioned("Yeastar", `\byeastar\b`),
	mentioned("Grandstream", `\bgrandstream\b`),
	mentioned("Cisco", `\bcisco\b`),
}

// defaultRealms are digest realms, in lower case, that a system has until somebody gives it another.
var defaultRealms = map[string]string{
	"asterisk":       "Asterisk",
	"3cxphonesystem": "3CX",
}

// habit is a list in a header that a system is known for.
type habit struct {
	system  string
	header  string
	how     comparison
	list    string
	without string // a header that must not be there; empty: any may
}

// comparison is how a list has to be like that of a habit.
type comparison int

const (
	contains comparison = iota // all of it, in any order
	begins                     // it begins like that
	ordered                    // just that
)

// habits in the order in which they count.
var habits = []habit{
	{system: "Asterisk", header: "Allow", how: begins, list: "OPTIONS, REGISTER, SUBSCRIBE, NOTIFY, PUBLISH, INVITE"},
	{system: "Asterisk", header: "Allow", how: ordered, list: "INVITE, ACK, CANCEL, OPTIONS, BYE, REFER, SUBSCRIBE, NOTIFY, INFO, PUBLISH"},
	{system: "Asterisk", header: "Supported", how: ordered, list: "100rel, timer, replaces, norefersub"},
	{system: "FreeSWITCH", header: "Allow", how: begins, list: "INVITE, ACK, BYE, CANCEL, OPTIONS, MESSAGE, INFO, UPDATE, REGISTER, REFER"},
	{system: "FreeSWITCH", header: "Supported", how: ordered, list: "timer, path, replaces"},
	{system: "FreeSWITCH", header: "Allow-Events", how: begins, list: "talk, hold, conference"},
	{system: "Cisco CUBE", header: "Allow", how: ordered, list: "INVITE, OPTIONS, BYE, CANCEL, ACK, PRACK, UPDATE, REFER, SUBSCRIBE, NOTIFY, INFO, REGISTER"},
	{system: "Cisco CUBE", header: "Supported", how: contains, list: "sdp-anat"},
	{system: teams, header: "Allow", how: ordered, list: "INVITE, ACK, OPTIONS, CANCEL, BYE, NOTIFY"},
	// Its own answer to OPTIONS takes everything, names no extension, and says nothing of methods.
	{system: "Kamailio", header: "Accept", how: ordered, list: "*/*", without: "Allow"},
}

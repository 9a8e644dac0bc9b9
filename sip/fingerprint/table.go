package fingerprint

import "regexp"

const teams = "Microsoft Teams"

// notes maps systems to advice for their owners.
var notes = map[string]string{
	teams: "Microsoft Teams takes calls through a certified session border controller only; a direct connection is not supported.",
}

// product is a pattern for a system's name in Server or User-Agent. The first group of the pattern, if any, is the version. It matches only
// digits, letters, dots and similar characters, because the version is shown to users.
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

// products is ordered by precedence: a system that is built on another one precedes it.
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
	// The name of the vendor is all that is known about the headers of these systems.
	mentioned("AudioCodes", `\baudiocodes\b|\bmediant\b`),
	mentioned("Ribbon", `\bribbon\b|\bsonus\b`),
	mentioned("Oracle SBC", `\boracle\b|\bacme ?packet\b`),
	mentioned("Avaya", `\bavaya\b`),
	mentioned("Mitel", `\bmitel\b`),
	mentioned("Yeastar", `\byeastar\b`),
	mentioned("Grandstream", `\bgrandstream\b`),
	mentioned("Cisco", `\bcisco\b`),
}

// defaultRealms maps default digest realms, in lower case, to the systems that use them.
var defaultRealms = map[string]string{
	"asterisk":       "Asterisk",
	"3cxphonesystem": "3CX",
}

// signature is a list in a header that is typical of a system.
type signature struct {
	system  string
	header  string
	how     comparison
	list    string
	without string // a header that must be absent; may be empty
}

// comparison selects how the list in a header is compared with a signature's list.
type comparison int

const (
	contains comparison = iota // all of these items, in any order, and possibly others
	begins                     // these items first, in order
	ordered                    // exactly these items, in order
)

// signatures is ordered by precedence.
var signatures = []signature{
	{system: "Asterisk", header: "Allow", how: begins, list: "OPTIONS, REGISTER, SUBSCRIBE, NOTIFY, PUBLISH, INVITE"},
	{system: "Asterisk", header: "Allow", how: ordered, list: "INVITE, ACK, CANCEL, OPTIONS, BYE, REFER, SUBSCRIBE, NOTIFY, INFO, PUBLISH"},
	{system: "Asterisk", header: "Supported", how: ordered, list: "100rel, timer, replaces, norefersub"},
	{system: "FreeSWITCH", header: "Allow", how: begins, list: "INVITE, ACK, BYE, CANCEL, OPTIONS, MESSAGE, INFO, UPDATE, REGISTER, REFER"},
	{system: "FreeSWITCH", header: "Supported", how: ordered, list: "timer, path, replaces"},
	{system: "FreeSWITCH", header: "Allow-Events", how: begins, list: "talk, hold, conference"},
	{system: "Cisco CUBE", header: "Allow", how: ordered, list: "INVITE, OPTIONS, BYE, CANCEL, ACK, PRACK, UPDATE, REFER, SUBSCRIBE, NOTIFY, INFO, REGISTER"},
	{system: "Cisco CUBE", header: "Supported", how: contains, list: "sdp-anat"},
	{system: teams, header: "Allow", how: ordered, list: "INVITE, ACK, OPTIONS, CANCEL, BYE, NOTIFY"},
	// Kamailio's response to OPTIONS accepts every type, and lists no methods.
	{system: "Kamailio", header: "Accept", how: ordered, list: "*/*", without: "Allow"},
}

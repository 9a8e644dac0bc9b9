package fingerprint

import "regexp"

const teams = "Microsoft Teams"

// notes holds advice on systems.
var notes = map[string]string{
	teams: "Microsoft Teams takes calls through a certified session border controller only; a direct connection is not supported.",
}

// product is a system's name in Server or User-Agent. The first group of the pattern is the version, which admits digits,
// letters, dots and the like only.
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

// products is in the order of precedence: a system that is built on another one precedes it.
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
	// Of these systems only the vendor's name is known.
	mentioned("AudioCodes", `\baudiocodes\b|\bmediant\b`),
	mentioned("Ribbon", `\bribbon\b|\bsonus\b`),
	mentioned("Oracle SBC", `\boracle\b|\bacme ?packet\b`),
	mentioned("Avaya", `\bavaya\b`),
	mentioned("Mitel", `\bmitel\b`),
	mentioned("Yeastar", `\byeastar\b`),
	mentioned("Grandstream", `\bgrandstream\b`),
	mentioned("Cisco", `\bcisco\b`),
}

// defaultRealms maps default digest realms, in lower case, to systems.
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
	without string // a header that must be absent; empty: none
}

// comparison is the way in which a list is matched with a habit's list.
type comparison int

const (
	contains comparison = iota // all items, in any order
	begins                     // these items first
	ordered                    // exactly these items, in order
)

// signatures is in the order of precedence.
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
	// Its response to OPTIONS accepts every type, lists no extension and no methods.
	{system: "Kamailio", header: "Accept", how: ordered, list: "*/*", without: "Allow"},
}

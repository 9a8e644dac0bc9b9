package agentstore

import "reflect"

// LogType is the type of the JSON in which the log of a turn is stored.
var LogType = reflect.TypeFor[logJSON]()

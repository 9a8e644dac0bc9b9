package agentstore

import "reflect"

// LogType is the type of the JSON that is stored of the log of a turn.
var LogType = reflect.TypeFor[logJSON]()

package lp

import (
	"encoding/binary"
	"maps"
	"net/http"
)

// reply is the answer to a streamed call: frames that leave at once, or one object
// at the end (protocol: lp-protocol.md §3.3).
type reply struct {
	w        http.ResponseWriter
	streamed bool
	merged   object
	mutate   func(object) (any, error) // nil: none
}

// send sends a part of the answer.
func (r *reply) send(o object) error {
	if !r.streamed {
		r.merged = r.merged.merge(o)
		return nil
	}
	if r.mutate == nil {
		return r.frame(o)
	}
	v, err := r.mutate(o)
	if err != nil {
		return err
	}
	if changed, ok := v.(map[string]any); ok { // a lie of another part stays out of this one
		maps.DeleteFunc(changed, func(name string, _ any) bool { return !o.has(name) })
	}
	return r.frame(v)
}

func (r *reply) frame(v any) error {
	raw, err := text(v)
	if err != nil {
		return err
	}
	if _, err := r.w.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(raw))), raw...)); err != nil {
		return err
	}
	return http.NewResponseController(r.w).Flush()
}

// finish sends the last part: code, msg and data.
func (r *reply) finish(o object) error {
	if !r.streamed {
		o = r.merged.merge(o)
	}
	var v any = o
	if r.mutate != nil {
		var err error
		if v, err = r.mutate(o); err != nil {
			return err
		}
	}
	if r.streamed {
		return r.frame(v)
	}
	return writeJSON(r.w, http.StatusOK, v)
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	raw, err := text(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, err = w.Write(raw)
	return err
}

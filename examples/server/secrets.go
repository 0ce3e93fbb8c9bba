package main

import (
	"net/url"
	"os"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// secrets returns every secret that a configuration holds, so that logs can be kept
// free of them: fields that are marked, variables that hold keys, and of addresses
// the password and whatever looks like an access key.
func secrets(c *config) []string {
	var out []string
	secretsIn(reflect.ValueOf(c).Elem(), "", &out)
	return out
}

func secretsIn(v reflect.Value, kind string, out *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			secretsIn(v.Elem(), kind, out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			if name := f.Name; strings.HasSuffix(name, "Env") && f.Type.Kind() == reflect.String {
				if value := os.Getenv(v.Field(i).String()); value != "" {
					*out = append(*out, value)
				}
				continue
			}
			secretsIn(v.Field(i), f.Tag.Get("secret"), out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			secretsIn(v.Index(i), kind, out)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			secretsIn(v.MapIndex(key), kind, out)
		}
	case reflect.String:
		switch kind {
		case "text":
			*out = append(*out, v.String())
		case "url":
			*out = append(*out, inAddress(v.String())...)
		case "dsn":
			if c, err := pgconn.ParseConfig(v.String()); err == nil && c.Password != "" {
				*out = append(*out, c.Password, url.QueryEscape(c.Password), strings.Trim(url.UserPassword("", c.Password).String(), ":@"))
			}
		}
	}
}

// accessKey is from which length on a part of an address is taken for an access key.
const accessKey = 16

// inAddress returns the secrets of an address: user and password, long parts of the
// path, values of the query.
func inAddress(text string) (out []string) {
	u, err := url.Parse(text)
	if err != nil {
		return []string{text}
	}
	if password, ok := u.User.Password(); ok {
		out = append(out, password, url.QueryEscape(password), url.PathEscape(password))
	}
	for _, part := range strings.Split(u.EscapedPath(), "/") {
		if len(part) >= accessKey {
			out = append(out, part)
		}
	}
	for _, values := range u.Query() {
		for _, value := range values {
			out = append(out, value, url.QueryEscape(value))
		}
	}
	return out
}

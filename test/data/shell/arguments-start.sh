#!/bin/bash
# Builds the server's arguments in an array; the library at the top is not in the repository.
. /opt/lib/log.sh

wait_for_name() {
    local name="$1"
    tries=0
    until getent hosts "$name" | awk '{ print $1; exit }' | grep .; do
        if [[ $tries -ge 60 ]]; then
            error "no address for $name"
            exit 1
        fi
        sleep 5
        ((tries++))
    done
}

[[ -f $REDIS_PASSWORD_FILE ]] && export REDIS_PASSWORD="$(< "${REDIS_PASSWORD_FILE}")"
wait_for_name "$PRIMARY"

if [[ -f /mounted/redis.conf ]]; then
    cp /mounted/redis.conf /etc/redis/redis.conf
fi
ARGS=("--port" "0")
ARGS+=("--tls-port" "6379")
ARGS+=("--tls-replication" "yes")
ARGS+=("--requirepass" "${REDIS_PASSWORD}")
ARGS+=("--include" "/etc/redis/redis.conf")
exec redis-server "${ARGS[@]}"

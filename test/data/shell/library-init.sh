#!/bin/sh
# An init script in functions: copies both configurations at every start, asks the Sentinels, grows the files by echo and sed.
set -eu
REDIS_CONF=/data/conf/redis.conf
SENTINEL_CONF=/data/conf/sentinel.conf
SERVICE=cache
GROUP=mymaster
QUORUM=2
INDEX="${HOSTNAME##*-}"
MASTER=''

ask_sentinel() {
    set +e
    if [ "$TLS_PORT" -gt 0 ]; then
        redis-cli -h "${SERVICE}" -p "${TLS_PORT}" -a "${SENTINELAUTH}" --no-auth-warning --tls --cacert /tls/ca.crt sentinel get-master-addr-by-name "${GROUP}" | head -n 1
    else
        redis-cli -h "${SERVICE}" -p 26379 -a "${SENTINELAUTH}" --no-auth-warning sentinel get-master-addr-by-name "${GROUP}" | head -n 1
    fi
    set -e
}

ask_again() {
    found=''
    for i in $(seq 1 "$1"); do
        found=$(ask_sentinel)
        if [ -n "${found}" ]; then
            break
        fi
        sleep $((2 + i))
    done
    echo "${found}"
}

copy_config() {
    cp /readonly/redis.conf "${REDIS_CONF}"
    cp /readonly/sentinel.conf "${SENTINEL_CONF}"
}

follow() {
    echo "replicaof ${1} 6379" >> "${REDIS_CONF}"
    sed -i "1s/^/sentinel monitor ${GROUP} ${1} 6379 ${QUORUM}\\n/" "${SENTINEL_CONF}"
    echo "sentinel announce-port 26379" >> ${SENTINEL_CONF}
}

mkdir -p /data/conf
copy_config
MASTER="$(ask_again 3)"
if [ -n "${MASTER}" ]; then
    follow "${MASTER}"
elif [ "${INDEX}" = "0" ]; then
    echo "no master yet, this is the first"
    follow "${HOSTNAME}"
    sed -i "s/^.*replicaof.*//" "${REDIS_CONF}"
else
    follow "${SERVICE}-0"
fi
if [ "${AUTH:-}" ]; then
    ESCAPED=$(echo "${AUTH}" | sed -e 's/[\/&]/\\&/g')
    sed -i "s/replace-with-auth/${ESCAPED}/" "${REDIS_CONF}" "${SENTINEL_CONF}"
fi

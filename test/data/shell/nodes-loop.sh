cp /tmp/redis/redis.conf /etc/redis/redis.conf
nodes=redis-0.redis,redis-1.redis,redis-2.redis
for i in ${nodes//,/ }
do
    echo "finding master at $i"
    MASTER=$(redis-cli --no-auth-warning --raw -h $i -a $REDIS_PASSWORD info replication | awk '{print $1}' | grep master_host: | cut -d ":" -f2)
    if [ "$MASTER" == "" ]; then
        echo "no master found"
        MASTER=
    else
        echo "found $MASTER"
        break
    fi
done
echo "sentinel monitor mymaster $MASTER 6379 2" >> /tmp/master
cat <<EOF > /etc/redis/sentinel.conf
port 5000
sentinel resolve-hostnames yes
sentinel announce-hostnames yes
$(cat /tmp/master)
sentinel auth-pass mymaster $REDIS_PASSWORD
EOF
